import { LastcallError } from '@lastcall/core';
import type { Config } from '../config/config.ts';
import type { Settings } from '../config/settings.ts';
import { newId } from '../domain/new-id.ts';
import type { ArtifactFiles } from '../ports/artifacts/artifact-files.ts';
import { createEgress } from '../ports/egress/egress.ts';
import { KnownSecrets } from '../telemetry/known-secrets.ts';
import { createSecrets } from '../telemetry/secrets.ts';
import { openArtifacts } from './open-models.ts';

/**
 * Tries the bucket for artifacts with a small file, which is written, read and deleted. Resolves with the name of the bucket, or with undefined if
 * artifacts are in a folder. Throws an error that says what is wrong.
 */
export async function checkBucket(
  { artifacts: { s3 } }: Pick<Config, 'artifacts'>,
  files: ArtifactFiles,
): Promise<string | undefined> {
  if (s3 === undefined) return undefined;
  const id = `check-${newId(Date.now())}`;
  try {
    await files.write(id, new TextEncoder().encode('lastcall'));
    try {
      await (await files.read(id))?.cancel();
    } finally {
      await files.remove(id);
    }
    return s3.bucket;
  } catch (cause) {
    const said = `The bucket "${s3.bucket}" at ${s3.endpoint} does not work for images and attachments. ${(cause as Error).message}`;
    const advice = 'Correct artifacts.s3 in the configuration, or allow its keys to read, write and delete objects.';
    throw new LastcallError('artifact_store', `${said} ${advice}`, { cause });
  }
}

/** The same for a configuration whose gateway does not run. */
export async function checkConfiguredBucket({
  config,
  settings,
  env,
}: {
  readonly config: Config;
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Promise<string | undefined> {
  if (config.artifacts.s3 === undefined) return undefined;
  const secrets = createSecrets({ env, names: config.secrets, known: new KnownSecrets([]) });
  const egress = createEgress({ allow: config.egress.allow });
  try {
    return await checkBucket(config, openArtifacts({ config, settings, secrets }, egress));
  } finally {
    await egress.close();
  }
}
