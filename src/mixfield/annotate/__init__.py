"""The local web page of ``mixfield annotate``: a folder of images, strokes, choices, answers, exports.

`folder` holds the images and their saved annotations, `actions` applies what the page sends, `image_state` describes an
image to the page, `application` answers its requests, `access` refuses everybody else's, `serving` runs the server and
`exports` writes the results for other tools.
"""
