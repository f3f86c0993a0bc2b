import { describe, expect, test } from 'vitest';
import { ask } from './api.ts';
import { openCrew, twoGateways } from './crew.ts';
import type { ModelReply } from './loopback-model.ts';
import { until } from './until.ts';

const CONFIG = `import { filesConfig } from '${new URL('./files-config.ts', import.meta.url).href}';
export default filesConfig;
`;

const noting = (ref: string): ModelReply => ({ calls: [{ name: 'note', input: { ref } }] });
const done: ModelReply = { text: 'Done.' };
const rewinding: ModelReply = { calls: [{ name: 'rewind', input: { reason: 'Wrong.', guidance: 'Again.' } }] };

/** Long enough that a slow machine causes no takeover before the kill. */
const STEADY_LEASE_MS = 4_000;

describe.each(twoGateways)('a gateway on $kind is killed', { concurrent: true }, ({ kind }) => {
  test('[A8] [A14] inside a call that has written a file: the file has what settled calls wrote, the call writes it once, and a rewind after the takeover goes back to the start of the run', async () => {
    const inside = Promise.withResolvers<string>();
    const shown: string[] = [];
    let [isDead, isRewound] = [false, false];
    await using crew = await openCrew({
      kind,
      leaseMs: STEADY_LEASE_MS,
      config: CONFIG,
      // A repeated request gets the same reply, because a run may be taken over on a busy machine.
      decide({ events, newCalls }) {
        shown.push(newCalls.at(-1)?.result ?? '');
        const refs = newCalls.map(({ input: { ref } }) => ref);
        if (!JSON.stringify(events).includes('second')) return refs.includes('r0') ? done : noting('r0');
        if (isRewound) return refs.includes('r3') ? done : noting('r3');
        isRewound = refs.includes('r2');
        return isRewound ? rewinding : noting(refs.includes('r1') ? 'r2' : 'r1');
      },
      async onTool({ gateway, input: { ref } }) {
        if (ref !== 'r2' || isDead) return;
        isDead = true;
        inside.resolve(gateway);
        await new Promise<never>(() => {});
      },
    });
    const [{ id }] = (await ask(crew.first.url, '/api/agents')).items;
    const ended = (count: number) =>
      until(`${count} runs have ended`, async () => {
        const runs = await crew.site.db.selectFrom('runs').select('status').execute();
        return runs.length === count && runs.every(({ status }) => status === 'completed');
      });
    await ask(crew.first.url, `/api/agents/${id}/events`, { source: 'test', name: 'first' });
    await ended(1);
    await ask(crew.first.url, `/api/agents/${id}/events`, { source: 'test', name: 'second' });
    const victim = await inside.promise;
    const stored = async (): Promise<unknown> =>
      (await crew.site.db.selectFrom('files').select(['path', 'content']).execute()).map(
        ({ path, content }) => `${path} ${content}`,
      );
    expect(await stored()).toEqual(['log.md "r0\\nr1\\n"']);
    const survivor = await crew.crash(victim);
    await ended(2);
    // What the calls r1, r2 and r3 returned: the file as each saw it.
    const seen = new Set(
      shown.flatMap((result) => result.match(/(r\d\W+n?)+/g) ?? []).map((one) => one.replaceAll(/\W+n?/g, ' ').trim()),
    );
    expect([...seen]).toEqual(['r0', 'r0 r1', 'r0 r1 r2', 'r0 r3']);
    expect(await stored()).toEqual(['log.md "r0\\nr3\\n"']);
    expect(await crew.site.db.selectFrom('file_undo').select('path').execute()).toEqual([]);
    expect((await ask(survivor.url, `/api/agents/${id}/files/log.md`)).content).toBe('r0\nr3\n');
  });
});
