import type { Config } from './config.ts';
import { type ConfigProblem, formatPath } from './config-problem.ts';
import { envNameOf } from './hook-config.ts';
import type { NotifyConfig } from './notify-config.ts';

/** Secrets that targets name and that the list of secrets does not have. */
export function notifyProblems({ notify, secrets }: Pick<Config, 'notify' | 'secrets'>): readonly ConfigProblem[] {
  return Object.entries(notify).flatMap(([name, target]) =>
    secretsOf(target)
      .filter(([, template]) => !secrets.includes(envNameOf(template)))
      .map(([path, template]) => ({
        path: formatPath(['notify', name, ...path]),
        message: `names ${envNameOf(template)}, which is not on the list "secrets" of this configuration.`,
      })),
  );
}

function secretsOf({ webhook, email, slack }: NotifyConfig): readonly (readonly [readonly string[], string])[] {
  return [
    ...[webhook?.signingSecret ?? []].flat().map((one) => [['webhook', 'signingSecret'], one] as const),
    ...[email?.user ?? []].flat().map((one) => [['email', 'user'], one] as const),
    ...[email?.password ?? []].flat().map((one) => [['email', 'password'], one] as const),
    ...[slack?.url ?? []].flat().map((one) => [['slack', 'url'], one] as const),
  ];
}
