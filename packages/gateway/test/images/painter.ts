import type { ImageModelV4, ImageModelV4CallOptions } from '@ai-sdk/provider';

/** The smallest images of each type. */
export const PNG: Uint8Array = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
export const JPEG: Uint8Array = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');

/** A test image model. */
export interface Painter extends ImageModelV4 {
  readonly requests: readonly ImageModelV4CallOptions[];
}

export function painter(
  paint: (request: ImageModelV4CallOptions) => Uint8Array[] | Promise<Uint8Array[]> = () => [PNG],
): Painter {
  const requests: ImageModelV4CallOptions[] = [];
  return {
    specificationVersion: 'v4',
    provider: 'test.image',
    modelId: 'painter',
    maxImagesPerCall: 4,
    requests,
    async doGenerate(request) {
      requests.push(request);
      const images = await paint(request);
      return { images, warnings: [], response: { timestamp: new Date(), modelId: 'painter', headers: undefined } };
    },
  };
}
