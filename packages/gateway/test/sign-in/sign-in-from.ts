import { Readable } from 'node:stream';
import type { Api } from '../http/api.ts';

/** Signs in as a browser at this address, with the socket information of the server. */
export async function signInFrom(api: Api, address: string, body: object): Promise<Response> {
  const text = JSON.stringify(body);
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', origin: 'http://gateway' };
  const request = new Request('http://gateway/api/session', { method: 'POST', headers, body: text });
  const incoming = Object.assign(Readable.from([Buffer.from(text)]), { socket: { remoteAddress: address } });
  return await api.app.fetch(request, { incoming });
}
