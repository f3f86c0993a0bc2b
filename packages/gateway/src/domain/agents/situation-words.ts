import { nameInWords, textInWords, timeInWords, valueInWords } from '../plain-words.ts';

/*
 * The lines of a situation as a model reads them:
 *
 *     You are Clerk.
 *     Active space: 2 (Invoices)
 *     Other spaces:
 *     1 (Lobby): Where everyone is.
 *     Goals:
 *     pay-bills, active, priority 2: Pay all bills.
 *     Memories:
 *     price: {"lamp":40}
 *     Plans:
 *     tea (Tea), cron 0 9 * * * Europe/Berlin, next 2026-01-02 08:00 UTC: Make tea.
 */
export function situationInWords(lines: readonly unknown[]): readonly string[] {
  const about = (what: string): readonly SituationLine[] =>
    (lines as readonly SituationLine[]).filter((line) => line?.about === what);
  const active = about('active_space')[0]?.spaceId ?? null;
  const spaces = about('space');
  return [
    ...about('you').map(({ name }) => `You are ${plain(name)}.`),
    `Active space: ${active === null ? 'none' : activeSpace(active, spaces)}`,
    ...section(
      active === null ? 'Your spaces:' : 'Other spaces:',
      spaces.filter(({ spaceId }) => spaceId !== active).map(spaceInWords),
    ),
    ...section('Goals:', about('goal').map(goalInWords)),
    ...section('Memories:', about('memory').map(memoryInWords)),
    ...section('Plans:', about('plan').map(planInWords)),
  ];
}

type SituationLine = Readonly<Record<string, unknown>>;

function section(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [heading, ...lines];
}

function plain(name: unknown): string {
  return nameInWords(String(name));
}

/** A key that reads like a heading is quoted. */
function keyInWords(key: unknown): string {
  return /^(goals|memories|plans|(active|your|other) spaces?)$/i.test(String(key)) ? JSON.stringify(key) : plain(key);
}

function activeSpace(spaceId: unknown, spaces: readonly SituationLine[]): string {
  const space = spaces.find((one) => one.spaceId === spaceId);
  return space === undefined ? plain(spaceId) : spaceReference(space);
}

/** `2 (Invoices)`. The number is what tools take. */
export function spaceReference({ spaceId, number, name }: SituationLine): string {
  return `${typeof number === 'number' ? number : plain(spaceId)} (${plain(name)})`;
}

function spaceInWords(space: SituationLine): string {
  const { description } = space;
  const more = typeof description === 'string' && description !== '' ? `: ${textInWords(description)}` : '';
  return `${spaceReference(space)}${more}`;
}

function goalInWords({ key, description, status, priority }: SituationLine): string {
  const notes = [
    keyInWords(key),
    ...(status === undefined ? [] : [plain(status)]),
    ...(priority === undefined || priority === 0 ? [] : [`priority ${plain(priority)}`]),
  ];
  return `${notes.join(', ')}: ${textInWords(String(description))}`;
}

function memoryInWords({ key, value }: SituationLine): string {
  return `${keyInWords(key)}: ${valueInWords(value)}`;
}

/** Also for `get_plans`. */
export function planInWords({ key, name, instruction, cron, timeZone, nextAt, lastAt, setBy }: SituationLine): string {
  const notes = [
    ...(cron === undefined
      ? []
      : [`cron ${textInWords([cron, timeZone].filter((one) => one !== undefined).join(' '))}`]),
    ...timed('next', nextAt),
    ...timed('last', lastAt),
    ...(setBy === undefined || setBy === 'agent' ? [] : ['set by an operator']),
  ];
  return `${[`${plain(key)} (${plain(name)})`, ...notes].join(', ')}: ${textInWords(String(instruction))}`;
}

/** Says that it is UTC: next to a cron in another time zone, a model would read it as the local time. */
function timed(word: string, at: unknown): readonly string[] {
  return at === undefined || at === null ? [] : [`${word} ${timeInWords(Date.parse(String(at)))} UTC`];
}
