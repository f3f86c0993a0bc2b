import { LastcallError } from '@lastcall/core';

/** The gateway cannot listen on its address. The message says what to do. */
class ListenRefused extends LastcallError {
  override readonly name: string = 'ListenRefused';

  constructor(message: string, options?: { cause?: unknown }) {
    super('listen_refused', message, options);
  }
}

/** Explains why a server cannot listen, and what to do about it. Any other error is returned unchanged. */
export function toListenError(cause: unknown, { port, host }: { port: number; host: string }): unknown {
  const message = refusalOf((cause as NodeJS.ErrnoException).code, { port, host });
  return message === undefined ? cause : new ListenRefused(message, { cause });
}

function refusalOf(code: string | undefined, { port, host }: { port: number; host: string }): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${host} is in use. Stop the other program, or set PORT to another port, e.g. PORT=${port === 65_535 ? 4100 : port + 1}.`;
    case 'EACCES':
      return `Port ${port} of ${host} needs more rights than this user has. Set PORT to a port above 1023, e.g. PORT=4100.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `This machine has no address "${host}". Set HOST to an address of this machine, e.g. 127.0.0.1, or to 0.0.0.0 for all addresses.`;
    default:
      return undefined;
  }
}
