import type { Run } from '@lastcall/client';

type Trigger = Run['trigger'][number];

/** What woke a run, in words: `Ada: Book a hotel …`. */
export function triggerInWords({ trigger, trial, fork }: Pick<Run, 'trigger' | 'trial' | 'fork'>): string {
  const [first, ...more] = trigger;
  if (first === undefined) return 'Nothing woke it';
  // Without its own message, a fork does the steps again from one of them.
  if (trial?.kind === 'fork' && first.type === 'chat' && isBlank(first.text))
    return fork === undefined ? 'A fork' : `Fork at step ${fork.atStep}`;
  return more.length === 0 ? oneInWords(first) : `${oneInWords(first)} (and ${more.length} more)`;
}

function oneInWords({ type, by, text }: Trigger): string {
  const said = text === undefined || isBlank(text) ? WORDS[type] : text;
  switch (type) {
    case 'tool_result':
      return by === undefined ? said : `${by} answered ${said}`;
    case 'plan':
      return by === undefined ? said : `Plan ${by}: ${said}`;
    default:
      return by === undefined ? said : `${by}: ${said}`;
  }
}

function isBlank(text = ''): boolean {
  return text.trim() === '';
}

const WORDS: Readonly<Record<Trigger['type'], string>> = {
  space_message: 'A message',
  tool_result: 'An answer to a call',
  plan: 'A plan that was due',
  service: 'An event of a service',
  chat: 'A chat request',
  command: 'A command',
};
