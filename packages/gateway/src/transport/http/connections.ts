import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Responses that end only when the gateway ends them. */
const eventStreams = new WeakSet<ServerResponse>();

export function markEventStream(response: ServerResponse): void {
  eventStreams.add(response);
}

/**
 * The connections of a server, with the responses in progress on each. Node's own `closeIdleConnections` keeps connections that
 * never sent a request, because it assumes that their first byte is on its way.
 */
export class Connections {
  readonly #open = new Map<Socket, Set<ServerResponse>>();
  #isClosing = false;

  constructor(server: Server) {
    server.on('connection', (socket) => this.#add(socket));
    // The listener must run before the request is answered.
    server.prependListener('request', (_request, response) => this.#begin(response));
  }

  /** Closes connections without a response in progress now, and the others as soon as their response is done. */
  closeIdle(): void {
    this.#isClosing = true;
    for (const [socket, responses] of this.#open) if (responses.size === 0) socket.destroy();
  }

  /** Cuts streams that have ended but whose clients do not read the end. The clients can resume elsewhere. */
  cutEventStreams(): void {
    for (const [socket, responses] of this.#open)
      if ([...responses].some((response) => eventStreams.has(response))) socket.destroy();
  }

  #add(socket: Socket): void {
    this.#open.set(socket, new Set());
    socket.once('close', () => this.#open.delete(socket));
    if (this.#isClosing) socket.destroy();
  }

  #begin(response: ServerResponse): void {
    const { socket } = response;
    const responses = socket === null ? undefined : this.#open.get(socket);
    if (socket === null || responses === undefined) return;
    responses.add(response);
    response.once('close', () => {
      responses.delete(response);
      if (this.#isClosing && responses.size === 0) socket.destroySoon();
    });
  }
}
