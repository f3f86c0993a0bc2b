import { withVisibleControls } from '@lastcall/client/react';
import { LoaderCircle, Paperclip, X } from 'lucide-react';
import type { ReactElement } from 'react';
import { sizeInWords } from './size-in-words.ts';
import type { ChosenFile, UsedUploads } from './use-uploads.ts';

/** The files that will be sent with a message, each with a button that removes it. */
export function ChosenFiles({ uploads: { files, remove } }: { uploads: UsedUploads }): ReactElement | null {
  if (files.length === 0) return null;
  return (
    <ul aria-label="Files to send" className="flex flex-wrap gap-2">
      {files.map((file) => (
        <li
          key={file.key}
          className={`flex max-w-full items-center gap-1.5 rounded border border-line py-1 pr-1 pl-2 text-sm ${file.problem === undefined ? 'bg-raised' : 'bg-bad-soft'}`}
        >
          <Mark file={file} />
          <bdi className="truncate">{withVisibleControls(file.name)}</bdi>
          <span className={`shrink-0 ${file.problem === undefined ? 'text-quiet' : 'text-bad'}`}>
            {file.problem ?? sizeInWords(file.bytes)}
          </span>
          <button
            type="button"
            aria-label={`Remove ${withVisibleControls(file.name)}`}
            onClick={() => remove(file.key)}
            className="flex size-6 shrink-0 items-center justify-center rounded hover:bg-surface pointer-coarse:size-11"
          >
            <X size={14} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  );
}

function Mark({ file: { attachment, problem } }: { file: ChosenFile }): ReactElement {
  return attachment === undefined && problem === undefined ? (
    <LoaderCircle size={14} aria-label="Uploading" className="shrink-0 motion-safe:animate-spin" />
  ) : (
    <Paperclip size={14} aria-hidden className="shrink-0 text-quiet" />
  );
}
