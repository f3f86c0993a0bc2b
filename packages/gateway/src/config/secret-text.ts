import { z } from 'zod';
import { parseTemplate, templateProblem, usesInput } from './template.ts';

/** A text that may contain `${env.NAME}` and is the same for all calls. */
export const secretText: z.ZodType<string> = z.string().superRefine((value, ctx) => {
  const message = templateProblem(value) ?? inputProblem(value);
  if (message !== undefined) ctx.addIssue({ code: 'custom', message });
});

function inputProblem(value: string): string | undefined {
  return usesInput(parseTemplate(value))
    ? `cannot use {{input…}}: it is the same for all calls. Write \${env.NAME} for a secret.`
    : undefined;
}
