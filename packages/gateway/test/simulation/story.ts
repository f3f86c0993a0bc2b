import type { Problem } from './checks.ts';
import type { FaultKind } from './faults.ts';
import type { EndedWorld } from './world.ts';

const WORDS: Readonly<Record<FaultKind, string>> = {
  die: 'the process dies',
  stall: 'the process stalls',
  'jump-clock': 'the clock of the process jumps',
  refuse: 'the database refuses the connection',
  'undo-commit': 'the commit fails, and the gateway is not told whether it was made',
  'lose-answer': 'the commit is made, and its answer is lost',
  outage: 'the database goes away for a while',
  'lose-notice': 'a notice is lost',
  'double-notice': 'a notice comes twice',
  'delay-notice': 'a notice comes late',
  'lose-wake': 'a wake is lost',
  disconnect: 'the client is cut off before it gets the answer',
  repeat: 'the client sends its request again',
  'read-slowly': 'the client reads slowly',
  'model-slow': 'the model is slow',
  'model-fails': 'the model fails',
  'model-breaks-off': 'the model breaks off',
  'tool-hangs': 'the tool hangs',
  'tool-throws': 'the tool throws',
  'tool-acts-and-fails': 'the tool acts and then fails',
};

/** What happened, for a person: what was asked for, what went wrong, what the gateways did, and which promise was broken. */
export function toStory({ seed, log, faults, ledger }: EndedWorld, problems: readonly Problem[]): string {
  const asked = new Set([...ledger.asked, ...ledger.turns].map(({ ref }) => ref));
  const words = new Map(faults.map(({ id, kind }) => [`FAULT ${kind} at ${id}`, `${placeOf(id)}: ${WORDS[kind]}.`]));
  const lines = log.map((line) => {
    const [, at = '', what = ''] = /^\s*(\S+) (.*)$/.exec(line) ?? [];
    const fault = words.get(what);
    return `  ${at.padStart(8)} ms  ${fault === undefined ? what : `!! ${fault}`}`;
  });
  return [
    `Seed ${seed} broke ${new Set(problems.map(({ check }) => check)).size} promise(s), with ${faults.length} fault(s) and ${asked.size} request(s):`,
    ...lines,
    'Broken:',
    ...problems.map(({ check, text }) => `  ${check}: ${text}`),
    `Again, with everything that the seed has: npm run simulate -- --seed ${seed}`,
  ].join('\n');
}

function placeOf(id: string): string {
  const [place = ''] = id.split('#');
  return place;
}
