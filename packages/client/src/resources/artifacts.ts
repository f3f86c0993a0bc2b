import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Upload = Operations['POST /api/artifacts'];
type Address = Operations['GET /api/artifacts/{id}/address'];

/** Files that people attach to messages, and those that tools made. */
export interface Artifacts {
  /** Uploads a file. Attach it to a message with its id, within a day. A `File` has its own name. */
  upload(file: Blob, query?: Upload['query'], options?: RequestOptions): Promise<Upload['answer']>;
  /** An address that `<img>` and links can load without credentials, until it expires. */
  address(id: string, options?: RequestOptions): Promise<Address['answer']>;
}

export function artifacts({ call }: Connection): Artifacts {
  return {
    upload: (file, query, options) =>
      call('POST /api/artifacts', {
        query: { name: (file as Partial<File>).name, ...query },
        body: file,
        timeoutMs: UPLOAD_MS,
        ...options,
      }),
    address: (id, options) => call('GET /api/artifacts/{id}/address', { params: { id }, ...options }),
  };
}

/** Twenty megabytes over a slow line. */
const UPLOAD_MS = 300_000;
