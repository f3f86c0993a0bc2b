import { VOICES } from './chorus-config.ts';
import type { ModelReply } from './loopback-model.ts';
import type { ModelRequest } from './model-request.ts';
import type { Site } from './site.ts';

/** The text of lastcall.config.mjs for a site of many speakers. */
export const CHORUS: string = `import { chorusConfig } from '${new URL('./chorus-config.ts', import.meta.url).href}';
export default chorusConfig;
`;

/** How many messages each agent sends per event, and how many of them in one reply. */
const LINES = 20;
const LINES_PER_REPLY = 4;

/**
 * Sends `LINES` messages about each message of the run. It decides only by its request's view of this run: an agent that sees less
 * than it has sent, or is woken twice for the same message, sends something twice.
 */
export function speak(request: ModelRequest): ModelReply {
  const said = new Set(request.newCalls.filter(isSent).map(({ input }) => String(input.text)));
  const due = request.newEvents
    .filter(({ type }) => type === 'space_message')
    .flatMap(({ data }) => linesFor(request.agent, String(data.text)))
    .filter((text) => !said.has(text));
  if (due.length === 0) return { text: 'All is said.' };
  const space = request.spaces[request.agent] ?? '';
  const enter = request.activeSpaceId === space ? [] : [{ name: 'enter_space', input: { spaceId: space } }];
  const messages = due.slice(0, LINES_PER_REPLY).map((text) => ({ name: 'send_message', input: { text } }));
  return { calls: [...enter, ...messages] };
}

function isSent({ name, result }: ModelRequest['calls'][number]): boolean {
  return name === 'send_message' && result.startsWith('Sent.');
}

function linesFor(voice: string, ref: string): string[] {
  return Array.from({ length: LINES }, (_, index) => `${voice} on ${ref}: line ${index + 1}`);
}

/** The problems: each line must be sent once, and each run completed. */
export async function problemsOfChorus({ db }: Pick<Site, 'db'>, refs: readonly string[]): Promise<string[]> {
  const messages = await db.selectFrom('messages').select('content').where('kind', '=', 'text').execute();
  const counts = new Map<string, number>();
  for (const { content } of messages) {
    const text = JSON.parse(content) as string;
    if (!refs.includes(text)) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const expected = VOICES.flatMap((voice) => refs.flatMap((ref) => linesFor(voice, ref)));
  const runs = db.selectFrom('runs').select(['id', 'stop', 'takeovers']).where('status', '!=', 'completed');
  const failed = await runs.execute();
  return [
    ...expected
      .filter((text) => counts.get(text) !== 1)
      .map((text) => `"${text}" was said ${counts.get(text) ?? 0} times.`),
    ...[...counts.keys()].filter((text) => !expected.includes(text)).map((text) => `Nobody was asked for "${text}".`),
    ...failed.map(({ id, stop, takeovers }) => `Run ${id} is not completed: ${stop} It was taken over: ${takeovers}`),
  ];
}
