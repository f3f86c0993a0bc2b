import type { Run } from '@lastcall/client';

type Trigger = Run['trigger'][number];

/** What woke a run, in words: `Ada: Book a hotel …`. */
export function triggerInWords(trigger: readonly Trigger[]): string {
  const [first, ...more] = trigger;
  if (first === undefined) return 'Nothing woke it';
  return more.length === 0 ? oneInWords(first) : `${oneInWords(first)} (and ${more.length} more)`;
}

function oneInWords({ type, by, text }: Trigger): string {
  const said = text ?? WORDS[type];
  switch (type) {
    case 'tool_result':
      return by === undefined ? said : `${by} answered ${said}`;
    case 'plan':
      return by === undefined ? said : `Plan ${by}: ${said}`;
    default:
      return by === undefined ? said : `${by}: ${said}`;
  }
}

const WORDS: Readonly<Record<Trigger['type'], string>> = {
  space_message: 'A message',
  tool_result: 'An answer to a call',
  plan: 'A plan that was due',
  service: 'An event of a service',
  chat: 'A chat request',
  command: 'A command',
};
