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
export async function fitAnswer(answer: Answer, { kind, resultSchema }: WaitingCall): Promise<Answer> {
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
