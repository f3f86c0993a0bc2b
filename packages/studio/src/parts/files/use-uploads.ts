import type { Attachment } from '@lastcall/client';
import { useCallback, useRef, useState } from 'react';
import { client } from '../../data/client.ts';

/** A file that the user chose for a message. */
export interface ChosenFile {
  /** Counts the files that were chosen on this page. */
  readonly key: number;
  readonly name: string;
  readonly bytes: number;
  /** Set when the gateway has it. */
  readonly attachment?: Attachment;
  /** Why the gateway does not have it. */
  readonly problem?: string;
}

export interface UsedUploads {
  readonly files: readonly ChosenFile[];
  /** True while a file is on its way. */
  readonly isBusy: boolean;
  add(chosen: Iterable<File>): void;
  remove(key: number): void;
  clear(): void;
}

/** How many files a message can have. */
export const MOST_FILES = 10;

/**
 * Uploads files as soon as they are chosen, so that sending the message does not have to wait for them. One after the other: a person has room
 * for about one large file at a time on the gateway.
 */
export function useUploads(): UsedUploads {
  const [files, setFiles] = useState<readonly ChosenFile[]>([]);
  const [count, uploads] = [useRef(0), useRef(new Map<number, AbortController>())];
  const before = useRef<Promise<void>>(Promise.resolve());
  const add = useCallback<UsedUploads['add']>(
    (chosen) => {
      for (const file of chosen) {
        const key = ++count.current;
        const leaving = new AbortController();
        uploads.current.set(key, leaving);
        setFiles((all) => [...all, { key, name: file.name, bytes: file.size }]);
        const note = (found: Partial<ChosenFile>): void =>
          setFiles((all) => all.map((one) => (one.key === key ? { ...one, ...found } : one)));
        before.current = before.current
          .then(() => client.artifacts.upload(file, {}, { signal: leaving.signal }))
          .then(
            (attachment) => note({ attachment }),
            (error: unknown) => note({ problem: (error as Error).message }),
          );
      }
    },
    [count, uploads],
  );
  const remove = useCallback<UsedUploads['remove']>(
    (key) => {
      uploads.current.get(key)?.abort();
      setFiles((before) => before.filter((one) => one.key !== key));
    },
    [uploads],
  );
  const clear = useCallback(() => setFiles([]), []);
  const isBusy = files.some(({ attachment, problem }) => attachment === undefined && problem === undefined);
  return { files, isBusy, add, remove, clear };
}
