
  // Makes a picture smaller: Firefox takes screenshots in full size only.

  commands.shrink = async (args) => {
    const bytes = Uint8Array.from(atob(args.data), (letter) => letter.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes]));
    const canvas = document.createElement("canvas");
    const factor = Math.min(1, args.edgeMax / Math.max(picture.width, picture.height));
    canvas.width = Math.max(1, Math.round(picture.width * factor));
    canvas.height = Math.max(1, Math.round(picture.height * factor));
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    picture.close();
    const url = canvas.toDataURL(args.type, args.quality);
    return { data: url.slice(url.indexOf(",") + 1), width: canvas.width, height: canvas.height };
  };
