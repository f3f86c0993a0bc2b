import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';

/** A file of the studio, in every encoding that the build produced. */
export interface StudioFile {
  readonly type: string;
  readonly etag: string;
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly br: Uint8Array<ArrayBuffer> | undefined;
  readonly gzip: Uint8Array<ArrayBuffer> | undefined;
}

const PAGE = '/index.html';

/**
 * The files of a build, in memory, by their paths. Requests are only looked up here, so no path of a request reaches the file
 * system. Links are left out, since they could point anywhere. A new build is read at the next request for the page.
 */
export class StudioFiles {
  readonly #directory: string;
  #files: Promise<ReadonlyMap<string, StudioFile>> = Promise.resolve(new Map());
  #builtAt = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Undefined if there is no build. */
  async page(): Promise<StudioFile | undefined> {
    await this.#readNewBuild();
    return (await this.#files).get(PAGE);
  }

  async file(path: string): Promise<StudioFile | undefined> {
    if (this.#builtAt === 0) await this.#readNewBuild();
    return path === PAGE ? undefined : (await this.#files).get(path);
  }

  async #readNewBuild(): Promise<void> {
    const builtAt = await stat(join(this.#directory, PAGE)).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    if (builtAt === this.#builtAt) return;
    this.#builtAt = builtAt;
    this.#files = builtAt === 0 ? Promise.resolve(new Map()) : readFiles(this.#directory);
    // An incomplete build, e.g. while it is being written, is read again with the next request.
    this.#files.catch(() => {
      this.#builtAt = 0;
    });
  }
}

async function readFiles(directory: string): Promise<ReadonlyMap<string, StudioFile>> {
  const found = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
  const contents = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const one of found) contents.set(pathOf(directory, one), await readFile(join(one.parentPath, one.name)));
  const paths = [...contents.keys()].filter((path) => !isCompressed(path, contents));
  return new Map(paths.map((path) => [path, toFile(path, contents)]));
}

function pathOf(directory: string, { parentPath, name }: Dirent): string {
  return `/${relative(directory, join(parentPath, name)).split(sep).join('/')}`;
}

/** True for the compressed form of another file, which replaces it for clients that can read it. */
function isCompressed(path: string, contents: ReadonlyMap<string, unknown>): boolean {
  return /\.(br|gz)$/.test(path) && contents.has(path.replace(/\.(br|gz)$/, ''));
}

function toFile(path: string, contents: ReadonlyMap<string, Uint8Array<ArrayBuffer>>): StudioFile {
  const plain = contents.get(path) ?? new Uint8Array();
  return {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    etag: createHash('sha256').update(plain).digest('base64url').slice(0, 22),
    plain,
    br: contents.get(`${path}.br`),
    gzip: contents.get(`${path}.gz`),
  };
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};
