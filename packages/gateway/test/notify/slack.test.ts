import { expect, test } from 'vitest';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { embedded } from '../support/stores.ts';
import { startWebSite } from '../support/web-site.ts';
import { BASE_URL, deliver, openCall, targetTo } from './desk.ts';

describeIdleWorld({ title: 'notifications to Slack', on: embedded }, ({ world }) => {
  test('[O8] texts of agents and people can neither mention people nor create links in Slack', async () => {
    await using site = await startWebSite();
    const target = targetTo({ kind: 'slack', url: `${site.url}/services/T/B/x` }, { name: 'slack' });
    await using gateway = deliver(world, [target], { allow: [site.host] });
    const agentId = await world.agent('Clerk <!channel>');
    const callId = await openCall(world, agentId, {
      kind: 'result',
      answeredBy: { entities: [] },
      toolName: 'ask',
      input: { question: '<!here> <@U123> <https://evil.example|your bank> & more' },
    });
    await gateway.send();
    const { text, ...rest } = JSON.parse(site.requests[0]?.body ?? '');
    expect(rest).toEqual({ unfurl_links: false, unfurl_media: false });
    // The only thing in angle brackets is the link to the call.
    expect(text.match(/<[^>]*>/g)).toEqual([`<${BASE_URL}/calls/${callId}|Open the call>`]);
    expect(text).toContain('Agent: Clerk &lt;!channel&gt;');
    expect(text).toContain('Question: &lt;!here&gt; &lt;@U123&gt; &lt;https://evil.example|your bank&gt; &amp; more');
    expect(site.requests[0]?.url).toBe('/services/T/B/x');
  });
});
