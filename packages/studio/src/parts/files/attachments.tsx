import type { Attachment } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { FileDown } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { artifactAddress } from '../../data/artifacts.ts';
import { sizeInWords } from './size-in-words.ts';

interface AttachmentsProps {
  readonly files: readonly Attachment[];
  readonly className?: string;
}

/** Images are shown, and all other files are links that download them. Nothing opens in the page. */
export function Attachments({ files, className = '' }: AttachmentsProps): ReactElement | null {
  if (files.length === 0) return null;
  return (
    <ul aria-label="Files" className={`flex flex-wrap gap-2 pt-1 ${className}`}>
      {files.map((file) => (
        <li key={file.id} className="max-w-full">
          <OneFile file={file} />
        </li>
      ))}
    </ul>
  );
}

function OneFile({ file }: { file: Attachment }): ReactElement {
  const { data: url, error } = useQuery(artifactAddress(file.id));
  const [isBroken, setBroken] = useState(false);
  const name = withVisibleControls(file.name);
  if (error !== null) return <p className="text-sm text-quiet">{name}: it cannot be loaded, or was deleted.</p>;
  if (!file.mediaType.startsWith('image/') || isBroken) return <Download name={name} bytes={file.bytes} url={url} />;
  // The box has its height before the image has loaded, so that messages below do not move.
  return (
    <a
      href={url}
      download={file.name}
      className="block h-48 max-w-full overflow-hidden rounded border border-line bg-raised"
    >
      {url === undefined ? (
        <span className="sr-only">{name}</span>
      ) : (
        <img
          src={url}
          alt={name}
          loading="lazy"
          className="h-full max-w-full min-w-16 object-contain"
          onError={() => setBroken(true)}
        />
      )}
    </a>
  );
}

function Download({ name, bytes, url }: { name: string; bytes: number; url: string | undefined }): ReactElement {
  return (
    <a
      href={url}
      className="inline-flex min-h-8 max-w-full items-center gap-1.5 rounded border border-line bg-surface px-2 text-sm hover:bg-raised pointer-coarse:min-h-11"
    >
      <FileDown size={16} aria-hidden className="shrink-0 text-quiet" />
      <bdi className="truncate">{name}</bdi>
      <span className="shrink-0 text-quiet">{sizeInWords(bytes)}</span>
    </a>
  );
}
