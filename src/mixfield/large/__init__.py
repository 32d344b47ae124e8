"""Images and volumes that do not fit in memory: segmented block by block, with the answer of the whole.

`blocks` divides the image, `sources`, `geotiff` and `zarr_files` read windows of it, `block_evidence` and `block_field`
solve one block, `regions` joins the alternatives of neighbouring blocks, `label_files` writes the labels, and
`segmentation` maps over the blocks by `mixfield.batch`.
"""
