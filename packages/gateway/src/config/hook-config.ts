import { z } from 'zod';
import { secretTemplate } from './http-execution.ts';

/** Who signs the requests: `standard` is Standard Webhooks. */
export type HookScheme = 'standard' | 'github' | 'stripe' | 'slack';

/** An address, `POST /hooks/<name>`, at which a service sends events to an agent. Its signature is the only right that it needs. */
export interface HookConfig {
  /** The name of an agent of the same configuration. */
  readonly agent: string;
  readonly verify: HookScheme;
  /** `${env.NAME}`, or several while a secret is replaced. */
  readonly secret: string | readonly string[];
  /** External tools of the agent whose calls it answers. Then it takes answers and no events. Only with `standard`. */
  readonly answers?: readonly string[] | undefined;
}

export type HooksConfig = Readonly<Record<string, HookConfig>>;

const hookSchema = z.strictObject({
  agent: z.string(),
  verify: z.enum(['standard', 'github', 'stripe', 'slack'], {
    error: 'must be "standard", "github", "stripe" or "slack".',
  }),
  secret: z.union([secretTemplate, z.array(secretTemplate).min(1).max(5)], {
    error: `must be "\${env.NAME}", or a list of up to 5 of these.`,
  }),
  answers: z.array(z.string()).min(1).max(100).optional(),
});

const NAME = 'must have a name of 1–64 letters, digits, "-" and "_" that begins with a letter or a digit.';

export const hooksSchema: z.ZodType<HooksConfig> = z.record(z.string(), hookSchema).superRefine((hooks, ctx) => {
  for (const name of Object.keys(hooks))
    if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(name)) ctx.addIssue({ code: 'custom', path: [name], message: NAME });
});

/** The name in `${env.NAME}`. */
export function envNameOf(template: string): string {
  return template.slice('${env.'.length, -1);
}
