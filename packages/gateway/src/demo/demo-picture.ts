import { crc32, deflateSync } from 'node:zlib';
import type { ImageModelV4 } from '@ai-sdk/provider';

const WIDTH = 480;
const HEIGHT = 300;

type Colour = readonly [red: number, green: number, blue: number];

const SKIES: readonly (readonly [top: Colour, bottom: Colour])[] = [
  [
    [38, 70, 120],
    [247, 196, 138],
  ],
  [
    [88, 150, 206],
    [226, 240, 246],
  ],
  [
    [58, 34, 92],
    [240, 138, 122],
  ],
];
const SUN: Colour = [255, 236, 190];

/** Draws a postcard with a sun and hills. The same prompt always gives the same picture. */
export const demoPictureModel: ImageModelV4 = {
  specificationVersion: 'v4',
  provider: 'demo',
  modelId: 'postcard',
  maxImagesPerCall: 1,
  doGenerate: async ({ prompt = '' }) => ({
    images: [Buffer.from(postcard(prompt)).toString('base64')],
    warnings: [],
    response: { timestamp: new Date(), modelId: 'postcard', headers: undefined },
  }),
};

function postcard(prompt: string): Uint8Array {
  const seed = [...prompt].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 9_973, 7);
  const [top, bottom] = SKIES[seed % SKIES.length] as (typeof SKIES)[number];
  const sun = { x: 90 + (seed % 300), y: 60 + (seed % 70), radius: 34 };
  const pixels = new Uint8Array(HEIGHT * (1 + WIDTH * 3));
  for (let y = 0; y < HEIGHT; y++)
    for (let x = 0; x < WIDTH; x++) pixels.set(colourAt(x, y), y * (1 + WIDTH * 3) + 1 + x * 3);
  return png(pixels);

  function colourAt(x: number, y: number): Colour {
    for (const hill of [2, 1, 0]) {
      const height = 150 + hill * 45 + Math.sin((x + seed * (hill + 1)) / (46 + hill * 18)) * (30 - hill * 6);
      if (y > height) return mix(bottom, [24, 42, 48], 0.45 + hill * 0.22);
    }
    if (Math.hypot(x - sun.x, y - sun.y) < sun.radius) return SUN;
    return mix(top, bottom, y / 190);
  }
}

function mix(one: Colour, other: Colour, share: number): Colour {
  const part = Math.min(1, Math.max(0, share));
  return [0, 1, 2].map((at) => Math.round((one[at] ?? 0) * (1 - part) + (other[at] ?? 0) * part)) as unknown as Colour;
}

/** The rows of an image with three bytes a pixel, each row after a zero, as a PNG file. */
function png(rows: Uint8Array): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
