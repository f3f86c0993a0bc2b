import { LastcallError } from '@lastcall/core';

/**
 * A connection that the egress guard refused. The message contains only the host, because the rest of a URL may hold
 * secrets.
 */
export class EgressRefused extends LastcallError {
  override readonly name: string = 'EgressRefused';

  constructor(host: string, why: string) {
    super('egress_refused', `The connection to ${host === '' ? 'this URL' : host} is refused: ${why}.`);
  }
}
