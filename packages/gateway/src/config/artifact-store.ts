import { z } from 'zod';
import { secretTemplate } from './http-execution.ts';

/** A bucket of an S3-compatible server. The keys are written as `${env.NAME}`. */
interface S3Config {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The prefix of the object names. */
  readonly prefix?: string | undefined;
}

/** Where artifacts are stored. Default: as files under `home`. */
export interface ArtifactStoreConfig {
  readonly s3?: S3Config | undefined;
}

const endpoint = z.string().refine(isOrigin, {
  error: 'must be an http or https URL without a path, e.g. https://s3.eu-central-1.amazonaws.com.',
});

export const artifactStoreSchema: z.ZodType<ArtifactStoreConfig> = z.strictObject({
  s3: z
    .strictObject({
      endpoint,
      bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, { error: 'must be the name of a bucket.' }),
      region: z.string().regex(/^[\w-]{1,60}$/, { error: 'must be a region, e.g. eu-central-1, or auto.' }),
      accessKeyId: secretTemplate,
      secretAccessKey: secretTemplate,
      prefix: z
        .string()
        .regex(/^(?!(.*\/)?\.\.?\/)[\w./-]{1,200}$/, {
          error: 'must be letters, digits and . _ - /, without the folders "." and "..", e.g. lastcall/.',
        })
        .optional(),
    })
    .optional(),
});

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text;
}
