import { toJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { LateAnswer, PendingCall } from './pending-call.ts';

/** Enough to see that people still try; a client that repeats itself fills no disk. */
const KEPT = 5;

/** Keeps what came after the end, for operators. The newest stay. */
export async function keepLateAnswer(
  tx: Tx,
  { callId, lateAnswers = [] }: PendingCall,
  late: LateAnswer,
): Promise<void> {
  const said = toJson(late.answer);
  const others = lateAnswers.filter(({ answer, by }) => by !== late.by || toJson(answer) !== said);
  await tx.db
    .updateTable('pending_calls')
    .set({ late_answers: toJson([...others, late].slice(-KEPT)) })
    .where('call_id', '=', callId)
    .execute();
}
