// Requests to the server, relative to the address of the page, which holds the token.

export class RequestError extends Error {
  constructor(message, state = null) {
    super(message);
    this.state = state; // of the image now, if the server sent it
  }
}

async function fetched(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new RequestError("The server does not answer. Everything before your last action is saved; " +
      "start mixfield annotate again and open the address that it prints.");
  }
  if (response.ok) return response;
  const document = await response.json().catch(() => ({}));
  if (response.status === 409) throw new RequestError(document.message, document);
  throw new RequestError(document.error || "This address is no longer valid: open the one that mixfield annotate " +
    "printed last.");
}

const answer = async (path, options) => (await fetched(path, options)).json();

export class Server {
  constructor(labels) {
    this.base = `api/${labels}`;
  }
  folder() {
    return answer(`${this.base}/folder`);
  }
  image(index) {
    return answer(`${this.base}/images/${index}`);
  }
  pictureAddress(index) {
    return `${this.base}/images/${index}/picture`;
  }
  // Name and content of a file.
  async exported(kind) {
    const response = await fetched(`${this.base}/export/${kind}`);
    return [response.headers.get("content-disposition").match(/filename="(.*)"/)[1], await response.blob()];
  }
  act(index, action) {
    return this.post(`images/${index}/actions`, action);
  }
  markDone(index, done) {
    return this.post(`images/${index}/done`, { done });
  }
  post(path, document) {
    const headers = { "content-type": "application/json" };
    return answer(`${this.base}/${path}`, { method: "POST", headers, body: JSON.stringify(document) });
  }
}

export function loadedImage(address) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () => reject(new RequestError("The image cannot be shown."));
    image.src = address;
  });
}
