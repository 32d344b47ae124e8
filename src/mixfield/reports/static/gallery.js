// A folder of segmented images: nothing to draw.

start(async () => {});
