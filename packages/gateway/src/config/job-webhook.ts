import { z } from 'zod';
import { secretTemplate, urlProblem } from './http-execution.ts';

/** The webhook that announces an agent's jobs, in addition to its job stream. */
export interface JobsConfig {
  readonly webhook?: JobWebhook | undefined;
}

export interface JobWebhook {
  readonly url: string;
  /** `${env.NAME}`, or several while a key is replaced. Announcements are always signed. */
  readonly signingSecret: string | readonly string[];
}

const plainUrl = z
  .string()
  .max(2_000)
  .superRefine((text, ctx) => {
    const message = /\{\{|\$\{/.test(text) ? 'must not have placeholders.' : urlProblem(text);
    if (message !== undefined) ctx.addIssue({ code: 'custom', message });
  });

export const jobsSchema: z.ZodType<JobsConfig> = z
  .strictObject({
    webhook: z
      .strictObject({
        url: plainUrl,
        signingSecret: z.union([secretTemplate, z.array(secretTemplate).min(1).max(5)]),
      })
      .optional(),
  })
  .meta({ id: 'JobsConfig', description: "Where an agent's jobs are announced besides its job stream." });
