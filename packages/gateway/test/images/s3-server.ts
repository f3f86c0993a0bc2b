import { createHash, createHmac } from 'node:crypto';
import { type SeenRequest, startWebSite, type WebSite } from '../support/web-site.ts';

export const S3_KEYS = { accessKeyId: 'AKIDTEST0123456789', secretAccessKey: 'a-secret-access-key-of-the-test' };
export const S3_REGION = 'eu-test-1';

/** A server with the part of S3 that artifacts need. It checks every signature as AWS documents it (SigV4). */
export interface S3Server extends AsyncDisposable {
  readonly site: WebSite;
  /** By path. */
  readonly objects: ReadonlyMap<string, Buffer>;
}

export async function startS3Server({
  bucket = 'pictures',
  denied,
}: {
  readonly bucket?: string;
  /** The method that its keys do not allow. */
  readonly denied?: string;
} = {}): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const site = await startWebSite(
    (request, response) => {
      const { method, url, body } = request;
      if (!isSigned(request)) return response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
      if (!url.startsWith(`/${bucket}/`))
        return response.writeHead(404).end('<?xml version="1.0"?><Error><Code>NoSuchBucket</Code></Error>');
      if (method === denied) return response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
      if (method === 'DELETE') {
        objects.delete(url);
        return response.writeHead(204).end();
      }
      if (method === 'PUT') {
        objects.set(url, Buffer.from(body, 'latin1'));
        return response.writeHead(200).end();
      }
      const found = objects.get(url);
      return found === undefined ? response.writeHead(404).end() : response.writeHead(200).end(found);
    },
    { encoding: 'latin1' },
  );
  return { site, objects, [Symbol.asyncDispose]: () => site[Symbol.asyncDispose]() };
}

function isSigned({ method, url, headers, body }: SeenRequest): boolean {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const [, keyId, day = '', region = '', names = '', signature] = form.exec(headers.authorization ?? '') ?? [];
  const time = String(headers['x-amz-date']);
  const hash = headers['x-amz-content-sha256'];
  const isOfBody = hash === createHash('sha256').update(Buffer.from(body, 'latin1')).digest('hex');
  if (keyId !== S3_KEYS.accessKeyId || region !== S3_REGION || !time.startsWith(day) || !isOfBody) return false;
  const signed = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, url, '', signed.join(''), names, hash].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(
    (last, part) => hmac(last, part),
    `AWS4${S3_KEYS.secretAccessKey}`,
  );
  return hmac(key, toSign).toString('hex') === signature;
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
