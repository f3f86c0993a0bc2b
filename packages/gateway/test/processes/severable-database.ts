import { databases } from '../support/stores.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** A PostgreSQL database behind a proxy that can be cut. */
export interface Way extends AsyncDisposable {
  /** Through the proxy that can be cut. */
  readonly url: string;
  readonly directUrl: string;
  readonly proxy: TcpProxy;
}

export async function openWay(): Promise<Way> {
  const database = await databases.find(({ kind }) => kind === 'postgres')?.create();
  const directUrl = database?.location ?? '';
  const url = new URL(directUrl);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  return {
    url: url.href,
    directUrl,
    proxy,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await database?.remove();
    },
  };
}
