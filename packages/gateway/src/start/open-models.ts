import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { envNameOf } from '../config/hook-config.ts';
import type { Settings } from '../config/settings.ts';
import { type FindImageModel, imageModelFinder } from '../models/find-image-model.ts';
import { type ModelFinder, type ModelOptions, modelFinder } from '../models/find-model.ts';
import { type ArtifactFiles, createArtifactFiles, readBytes } from '../ports/artifacts/artifact-files.ts';
import { createS3ArtifactFiles } from '../ports/artifacts/s3-artifact-files.ts';
import type { Egress } from '../ports/egress/egress.ts';
import type { Secrets } from '../telemetry/secrets.ts';
import { readSecret } from './read-secret.ts';

interface Opening extends Pick<ModelOptions, 'env' | 'tapModel'> {
  readonly config: Config;
  readonly settings: Settings;
  readonly secrets: Secrets;
}

/** Finds models. Those of messages with files are sent the bytes of artifacts. */
export function openModels({ config, settings, env, tapModel }: Opening, artifacts: ArtifactFiles): ModelFinder {
  const files = { read: (id: string) => readBytes(artifacts, id), modelFiles: config.modelFiles };
  return modelFinder({
    model: settings.model,
    modelUrl: settings.modelUrl,
    models: config.models,
    env,
    files,
    tapModel,
  });
}

/** Where the bytes of artifacts are: in a folder under `home`, or in a bucket. */
export function openArtifacts(
  { config, settings, secrets }: Pick<Opening, 'config' | 'settings' | 'secrets'>,
  egress: Egress,
): ArtifactFiles {
  const { s3 } = config.artifacts;
  if (s3 === undefined) return createArtifactFiles(join(settings.home, 'artifacts'));
  const read = (field: 'accessKeyId' | 'secretAccessKey'): string =>
    readSecret(secrets, { variable: envNameOf(s3[field]), path: `artifacts.s3.${field}` });
  const credentials = () => ({ accessKeyId: read('accessKeyId'), secretAccessKey: read('secretAccessKey') });
  // Checked at the start: without its keys no file could be stored.
  credentials();
  return createS3ArtifactFiles({ ...s3, credentials, egress });
}

export function openImageModels({ config, settings, env }: Opening, { fetch }: Egress): FindImageModel {
  const { imageModels } = config;
  return imageModelFinder({ imageModels, modelUrl: settings.modelUrl, env, fetch });
}
