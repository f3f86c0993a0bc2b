import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy for a server that can be cut. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Every connection breaks, and new ones break at once. */
  cut(): void;
  /** Silently drops all data, like a broken network. Resolves when something was dropped. */
  freeze(): Promise<void>;
  mend(): void;
  /** Of a PostgreSQL server: the commit is done, its confirmation never comes, and the connection breaks. */
  loseCommits(isLost: () => boolean): void;
  /** Sockets that are open, on either side. */
  readonly count: number;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let isFrozen = false;
  let dropped = Promise.withResolvers<void>();
  let isLost = (): boolean => false;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    // A socket that is cut off emits an error, which is ignored.
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (isCut) {
      near.resetAndDestroy();
      return;
    }
    const far = keep(connect(target));
    let isLosing = false;
    near.on('data', (data) => {
      isLosing ||= data.includes('commit\0') && isLost();
      if (isFrozen) dropped.resolve();
      else far.write(data);
    });
    far.on('data', (data) => {
      if (isLosing) far.destroy();
      else if (!isFrozen) near.write(data);
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const breakAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get count() {
      return sockets.size;
    },
    cut() {
      isCut = true;
      breakAll();
    },
    async freeze() {
      isFrozen = true;
      dropped = Promise.withResolvers();
      await dropped.promise;
    },
    mend() {
      isCut = false;
      isFrozen = false;
    },
    loseCommits(given) {
      isLost = given;
    },
    async [Symbol.asyncDispose]() {
      breakAll();
      server.close();
      await once(server, 'close');
    },
  };
}
