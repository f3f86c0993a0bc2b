import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { makePrivateFolder } from '../store/sqlite/private-folder.ts';
import { ArtifactsUnavailable } from './artifacts-unavailable.ts';

/** Where the bytes of artifacts are stored. The gateway makes the ids, so they are safe as file names. */
export interface ArtifactFiles {
  /** Resolves once the bytes are durable. */
  write(id: string, bytes: Uint8Array): Promise<void>;
  /** Returns undefined if this gateway does not have the bytes, or another number of them than `bytes`. */
  read(id: string, bytes?: number): Promise<ReadableStream<Uint8Array> | undefined>;
  /** Deletes the bytes. Nothing happens if there are none. */
  remove(id: string): Promise<void>;
}

/** All bytes of an artifact. Undefined if this gateway does not have them. */
export async function readBytes(files: ArtifactFiles, id: string): Promise<Uint8Array | undefined> {
  const stream = await files.read(id);
  return stream === undefined ? undefined : new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Files in a folder that only its owner can read. */
export function createArtifactFiles(folder: string): ArtifactFiles {
  return {
    async write(id, bytes) {
      const path = join(folder, id);
      // The file is renamed when it is complete, so a crash cannot leave half of an image under the final name.
      const unfinished = `${path}.part`;
      try {
        makePrivateFolder(folder);
        await writeNew(unfinished, bytes);
        await rename(unfinished, path);
      } catch (cause) {
        await rm(unfinished, { force: true });
        const { code = '' } = cause as NodeJS.ErrnoException;
        const why = NO_ROOM[code];
        throw why === undefined ? cause : new ArtifactsUnavailable('stored', why, { cause });
      }
    },
    async remove(id) {
      await rm(join(folder, id), { force: true });
    },
    async read(id, bytes) {
      try {
        const file = await open(join(folder, id), 'r');
        if (bytes !== undefined && (await file.stat()).size !== bytes) {
          await file.close();
          return undefined;
        }
        return Readable.toWeb(file.createReadStream()) as ReadableStream<Uint8Array>;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
  };
}

async function writeNew(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

const NO_ROOM: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'the system does not allow a file of its size (ulimit -f)',
};
