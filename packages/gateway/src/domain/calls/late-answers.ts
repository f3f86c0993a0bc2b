import { toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { LateAnswer, WaitingCall } from './waiting-call.ts';

/** Enough to see that people still answer. A client that keeps repeating its answer must not fill the disk. */
const MAX_KEPT = 5;

/** Stores an answer that came after the end or after another answer, for operators. The newest ones are kept. */
export async function storeLateAnswer(
  tx: Tx,
  { callId, lateAnswers = [] }: WaitingCall,
  late: LateAnswer,
): Promise<void> {
  const said = toJson(late.answer);
  const others = lateAnswers.filter(({ answer, by }) => by !== late.by || toJson(answer) !== said);
  await tx.db
    .updateTable('calls')
    .set({ late_answers: toJson([...others, late].slice(-MAX_KEPT)) })
    .where('id', '=', callId)
    .execute();
}
