import type { Answer } from '@lastcall/core';
import { formatPath } from '../../config/config-problem.ts';
import { dataSchema } from '../../config/data-schema.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import { ApiError } from '../api-error.ts';
import { tooLarge } from '../entities/invalid.ts';
import { fitsKind } from './answer.ts';
import type { WaitingCall } from './waiting-call.ts';

/** Checks the size before anything is stored. */
export function assertSize(answer: Answer, maxBytes: number): void {
  const bytes = Buffer.byteLength(toJson(answer));
  if (bytes > maxBytes) throw tooLarge('The answer', { limit: maxBytes, came: bytes, unit: 'bytes' });
}

/** Returns the answer with the defaults of its schema, or throws a 422 that says where it does not fit. */
export async function fitAnswer(
  answer: ForkAnswer,
  { kind, resultSchema, toolName }: WaitingCall,
  { isFork = false, hasGrant = false }: { readonly isFork?: boolean; readonly hasGrant?: boolean } = {},
): Promise<Answer> {
  if (isFork && hasGrant)
    throw new ApiError('wrong_answer', 'A call of a fork cannot be granted in advance. Leave grant out.', {
      details: { path: 'grant' },
    });
  if (isFork && kind === 'approval') return await fitInFork(answer, { toolName, resultSchema });
  if ('runForReal' in answer)
    throw new ApiError('wrong_answer', 'runForReal is only for calls of forks. Leave it out.', { details: { kind } });
  if (!fitsKind(answer, kind)) {
    const expected =
      kind === 'approval'
        ? '{ approve: true, input? } or { deny: reason }: the call waits for approval.'
        : `{ result } or { error }: the call waits for ${kind === 'input' ? 'input' : 'its result'}.`;
    throw new ApiError('wrong_answer', `The answer must be ${expected}`, { details: { kind } });
  }
  if (resultSchema === undefined) return answer;
  if ('result' in answer) return { result: await fit('result', answer.result, resultSchema) };
  if ('approve' in answer && answer.input !== undefined)
    return { approve: true, input: await fit('input', answer.input, resultSchema) };
  return answer;
}

/** An answer to a call of a fork may also confirm that the call runs for real. */
export type ForkAnswer = Answer & { readonly runForReal?: string };

/** In a fork, an outcome can be given in place of the call. An approval must name the tool, because the call acts outside. */
async function fitInFork(
  answer: ForkAnswer,
  { toolName, resultSchema }: { toolName: string; resultSchema: WaitingCall['resultSchema'] | undefined },
): Promise<Answer> {
  if (!('approve' in answer)) return answer;
  if (answer.runForReal !== toolName)
    throw new ApiError(
      'not_confirmed',
      `This call is in a fork or a draft. If it is approved, "${toolName}" runs for real. To confirm that, answer with { approve: true, runForReal: ${toJson(toolName)} }. Otherwise give an outcome with { result } or { error }, or { deny: reason }.`,
      { details: { toolName } },
    );
  if (answer.input === undefined || resultSchema === undefined) return answer;
  return { approve: true, input: await fit('input', answer.input, resultSchema) };
}

async function fit(field: string, value: unknown, schema: NonNullable<WaitingCall['resultSchema']>): Promise<unknown> {
  const checked = await dataSchema(schema)['~standard'].validate(value);
  if (checked.issues === undefined) return checked.value;
  const problems = checked.issues.map(({ path = [], message }) => ({
    path: formatPath([field, ...path.map((step) => (typeof step === 'object' ? step.key : step))]),
    message,
  }));
  const words = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new ApiError('invalid_answer', `The answer does not match the tool's schema. ${words}`, {
    details: { path: problems[0]?.path ?? field, problems },
  });
}
