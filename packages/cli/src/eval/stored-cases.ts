import { everyItem } from '@lastcall/client';
import type { EvalCase } from '@lastcall/core/eval';
import type { Api } from '../api.ts';
import { CommandFailed } from '../exit-code.ts';

/** The cases that the gateway has stored for an evaluation. */
export async function storedCases(api: Api, name: string): Promise<readonly EvalCase[]> {
  return await api.ask(async ({ evaluations }) => {
    const [evaluation] = (await evaluations.list({ name })).items;
    if (evaluation === undefined)
      throw new CommandFailed(
        `The gateway has no evaluation "${name}". Make one of a run: lastcall eval add RUN --evaluation "${name}"`,
      );
    const cases: EvalCase[] = [];
    const stored = await everyItem((page) => evaluations.cases(evaluation.id, page));
    for (const { name: title, input, expected, runId } of stored)
      cases.push({ name: freeName(title, cases), input, expected, run: runId });
    return cases;
  });
}

/** The name, with a number if there is a case of that name. */
export function freeName(wanted: string, cases: readonly EvalCase[]): string {
  const taken = new Set(cases.map(({ name }) => name));
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number++) if (!taken.has(`${wanted} (${number})`)) return `${wanted} (${number})`;
}
