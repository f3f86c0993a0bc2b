import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Answers that end when the gateway says so, and never by themselves. */
const eventStreams = new WeakSet<ServerResponse>();

export function markEventStream(response: ServerResponse): void {
  eventStreams.add(response);
}

/**
 * The connections of a server, and what is being answered on each. Node's own `closeIdleConnections` keeps those that never asked
 * for anything: it takes them for requests whose first byte is on its way.
 */
export class Connections {
  readonly #open = new Map<Socket, Set<ServerResponse>>();
  #isClosing = false;

  constructor(server: Server) {
    server.on('connection', (socket) => this.#add(socket));
    // Before the request is answered.
    server.prependListener('request', (_request, response) => this.#begin(response));
  }

  /** Closes those on which nothing is being answered now, and the others as soon as that is done. */
  closeIdle(): void {
    this.#isClosing = true;
    for (const [socket, responses] of this.#open) if (responses.size === 0) socket.destroy();
  }

  /** Cuts the streams that were ended and whose clients do not take the end: they can resume elsewhere. */
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
