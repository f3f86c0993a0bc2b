import { definitionPart } from '../../domain/grants/granted-definition.ts';
import type { ActiveRun } from '../run/active-run.ts';
import { whyVoid } from '../toolset/tool-definition.ts';
import type { OpenedRun } from './open-run.ts';

/**
 * The decisions that a run starts with. An approval counts for the tool as it was when the approval was requested. If
 * the tool has changed since, the call is denied. If the call has already started, its approval counted. A call whose tool is gone ends
 * with the reason for that.
 */
export async function voidChangedApprovals({ services, run, tools }: OpenedRun): Promise<ActiveRun['answers']> {
  const { answers, transcript } = run;
  const approved = Object.keys(answers).filter((callId) => {
    const answer = answers[callId];
    return answer !== undefined && 'approve' in answer && !transcript.progress.answers.has(callId);
  });
  if (approved.length === 0) return answers;
  const calls = await services.store.db
    .selectFrom('calls')
    .select(['id', 'tool_name', 'asked_definition'])
    .where('id', 'in', approved)
    .where('asked_definition', 'is not', null)
    .execute();
  const decided = { ...answers };
  for (const { id: callId, tool_name: toolName, asked_definition: asked } of calls) {
    const deny = await whyVoid(tools, toolName, definitionPart(asked ?? ''));
    if (deny !== undefined) decided[callId] = { deny };
  }
  return decided;
}
