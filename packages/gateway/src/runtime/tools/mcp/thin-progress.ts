const PROGRESS = 'notifications/progress';

/** Of several progress messages for one call that arrived together, only the last one is kept. */
export function thinProgress(events: string): string {
  if (!events.includes(PROGRESS)) return events;
  const blocks = events.split(/(?<=\n\r?\n)/);
  const tokens = blocks.map(progressToken);
  const last = new Map(tokens.map((token, index) => [token, index]));
  return blocks.filter((_block, index) => tokens[index] === undefined || last.get(tokens[index]) === index).join('');
}

/** The call whose progress an event reports. Undefined for every other event, whatever text it contains. */
function progressToken(block: string): string | undefined {
  if (!block.includes(PROGRESS)) return undefined;
  const data = block
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length));
  try {
    const { method, params } = JSON.parse(data.join('\n')) as {
      method?: unknown;
      params?: { progressToken?: unknown };
    };
    return method === PROGRESS ? JSON.stringify(params?.progressToken ?? null) : undefined;
  } catch {
    return undefined;
  }
}
