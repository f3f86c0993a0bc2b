// A program: runs the order desk on a journal, from what is stored, and kills itself at a write.
// Arguments: the folder, the number of the write or 0, "before" or "after".
import { join } from 'node:path';
import { sqliteJournal } from '../../src/doors/sqlite-journal.ts';
import { type Journal, replay, runTurn, Transcript } from '../../src/index.ts';
import { notes, orderDesk } from './order-desk.ts';

const [folder = '', at = '0', when = 'before'] = process.argv.slice(2);

const thread = sqliteJournal({ path: join(folder, 'journal.db') }).thread('order');
const desk = orderDesk(join(folder, 'world.txt'));
const session = desk.session();
const records = thread.records();
replay(session, records);
const transcript = Transcript.fromJSON({ version: 1, entries: records.map(({ entry }) => entry) });

const { prompt = '', ...turn } = desk.turn();
const replies = records.filter(({ entry }) => entry.kind === 'reply').length;
const options = { ...turn, model: desk.model(replies), session, transcript, journal: killing(thread.journal) };
const isNew = records.length === 0;
let result = await runTurn({ ...options, ...(isNew ? { prompt } : {}) });
while (result.pending.length > 0) {
  const answers = Object.fromEntries(result.pending.map(({ callId }) => [callId, { approve: true as const }]));
  result = await runTurn({ ...options, answers });
}
const outcomes = thread
  .records()
  .flatMap(({ entry }) => (entry.kind === 'settled' ? [entry.settlement.outcome] : []))
  .map((outcome) => (outcome.status === 'error' ? outcome.code : outcome.status));
process.stdout.write(
  JSON.stringify({ response: result.response, notes: session.read(notes), outcomes, effects: desk.effects() }),
);

function killing(journal: Journal): Journal {
  let writes = 0;
  const write = async (keep: () => void | Promise<void>): Promise<void> => {
    const isLast = ++writes === Number(at);
    if (isLast && when === 'before') process.kill(process.pid, 'SIGKILL');
    await keep();
    if (isLast) process.kill(process.pid, 'SIGKILL');
  };
  return {
    append: (entries) => write(() => journal.append(entries)),
    settle: (entry, staged) => write(() => journal.settle(entry, staged)),
  };
}
