import { expect, test } from 'vitest';
import { createEgress } from '../../src/ports/egress/egress.ts';
import { isNeverSent } from '../../src/ports/egress/never-sent.ts';
import { startWebSite } from '../support/web-site.ts';

test('a refused connection was never sent, and a request whose redirect is refused was', async () => {
  await using site = await startWebSite((_request, response) =>
    response.writeHead(303, { location: 'http://10.0.0.7/' }).end(),
  );
  const egress = createEgress({ allow: [site.host] });
  const failureOf = (url: string, redirect?: 'error'): Promise<unknown> =>
    egress.request({ url, method: 'POST', body: 'pay', redirect }).catch((error: unknown) => error);
  expect(isNeverSent(await failureOf('http://10.0.0.7/'))).toBe(true);
  for (const failure of [await failureOf(site.url), await failureOf(site.url, 'error')]) {
    expect(failure).toMatchObject({ code: 'egress_refused' });
    expect(isNeverSent(failure)).toBe(false);
  }
  expect(site.requests).toHaveLength(2);
  await egress.close();
});
