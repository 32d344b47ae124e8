"""A plug-in for napari (extra ``napari``): alternatives from strokes on images and volumes.

`napari.yaml` is the manifest that napari finds by an entry point, `widget` is what it opens, `stroked_image` reads the
layers and `result_layers` writes them.  Nothing is imported before the widget is opened.
"""
