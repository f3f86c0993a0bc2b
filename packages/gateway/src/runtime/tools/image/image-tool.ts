import type { ImageModelV4, ImageModelV4CallOptions } from '@ai-sdk/provider';
import { type AnyTool, fail, type ToolContext } from '@lastcall/core';
import { dataTool } from '@lastcall/core/internal';
import { dataSchema } from '../../../config/data-schema.ts';
import { readImageExecution } from '../../../config/image-execution.ts';
import type { ToolConfig } from '../../../config/tool-config.ts';
import { imageTypeOf } from '../../../domain/artifacts/media-type.ts';
import type { StoreArtifact, StoredArtifact } from './store-artifact.ts';

/** What image tools need from the gateway. */
export interface ImageHost {
  model(provider: string, model: string): Promise<ImageModelV4>;
  store: StoreArtifact;
  readonly maxBytes: () => number;
}

/** Generating an image takes long. */
const DEFAULT_TIMEOUT_MS = 120_000;

/** A tool that generates images. The model gets their URLs, never their bytes. */
export function imageTool(config: ToolConfig, host: ImageHost): { tool: AnyTool; timeoutMs: number } {
  const { image, providerOptions } = readImageExecution(config.execution ?? {});
  const execute = async (input: unknown, ctx: ToolContext): Promise<unknown> => {
    // Called before the first await, because it belongs to the run of this call.
    const [store, maxBytes] = [host.store(), host.maxBytes()];
    const model = await host.model(image.provider, image.model);
    const { images } = await model.doGenerate({
      prompt: toPrompt(input),
      n: image.n ?? 1,
      size: image.size,
      aspectRatio: image.aspectRatio,
      seed: image.seed,
      files: undefined,
      mask: undefined,
      providerOptions: { [optionsKey(model)]: providerOptions } as ImageModelV4CallOptions['providerOptions'],
      abortSignal: ctx.abortSignal,
    });
    return await storeAll(images.map(toBytes), store, maxBytes);
  };
  return {
    tool: dataTool({ description: config.description, inputSchema: dataSchema(config.inputSchema), execute }),
    timeoutMs: config.timeoutMs ?? image.timeout ?? DEFAULT_TIMEOUT_MS,
  };
}

async function storeAll(
  images: readonly Uint8Array[],
  store: ReturnType<StoreArtifact>,
  maxBytes: number,
): Promise<unknown> {
  if (images.length === 0) return fail('The provider made no image.');
  const stored: StoredArtifact[] = [];
  for (const bytes of images) {
    if (bytes.length > maxBytes)
      return fail(`The image has ${bytes.length} bytes, and ${maxBytes} are allowed. Ask for a smaller one.`, {
        code: 'too_large',
      });
    const mediaType = imageTypeOf(bytes);
    if (mediaType === undefined)
      return fail('The provider returned something that is not a PNG, JPEG, GIF, WebP or AVIF image.');
    stored.push(await store(bytes, mediaType));
  }
  return stored.length === 1 ? stored[0] : { images: stored };
}

/** Providers read their own options under the first part of their name, in camel case. */
function optionsKey({ provider }: ImageModelV4): string {
  const [name = ''] = provider.split('.');
  return name.trim().replaceAll(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The field `prompt`, or the whole input as JSON. */
function toPrompt(input: unknown): string {
  const { prompt } = input as { readonly prompt?: unknown };
  return typeof prompt === 'string' ? prompt : JSON.stringify(input);
}

function toBytes(image: string | Uint8Array): Uint8Array {
  return typeof image === 'string' ? Buffer.from(image, 'base64') : image;
}
