import { once } from 'node:events';
import { startWebSite } from '../support/web-site.ts';

/** A server that answers with 50 MB, or without an end. A separate process, so that its work does not count as the gateway's. */
const PIECE = 'x'.repeat(65_536);
const { host } = await startWebSite(async ({ url }, response) => {
  response.setHeader('content-type', 'application/json');
  const closed = once(response, 'close');
  response.write('"');
  for (let sent = 0; !response.destroyed && (url === '/endless' || sent < 50_000_000); sent += PIECE.length) {
    if (response.write(PIECE)) await new Promise((resolve) => setImmediate(resolve));
    else await Promise.race([once(response, 'drain'), closed]);
  }
  response.end('"');
});
process.stdout.write(host);
