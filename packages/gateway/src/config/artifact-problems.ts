import type { Config } from './config.ts';
import { type ConfigProblem, formatPath } from './config-problem.ts';
import { envNameOf } from './hook-config.ts';

/** Keys of the bucket that the list of secrets does not have. */
export function artifactProblems({
  artifacts,
  secrets,
}: Pick<Config, 'artifacts' | 'secrets'>): readonly ConfigProblem[] {
  const { s3 } = artifacts;
  if (s3 === undefined) return [];
  return (['accessKeyId', 'secretAccessKey'] as const)
    .filter((field) => !secrets.includes(envNameOf(s3[field])))
    .map((field) => ({
      path: formatPath(['artifacts', 's3', field]),
      message: `names ${envNameOf(s3[field])}, which is not on the list "secrets" of this configuration.`,
    }));
}
