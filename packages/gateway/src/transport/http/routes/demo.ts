import { z } from 'zod';
import { type Endpoint, endpoint } from '../endpoint.ts';

/**
 * What only the demo of the command line serves: everywhere else the path does not exist. `crash` is to kill the process, and the
 * answer may be lost with it.
 */
export function demoEndpoints(crash: (() => void) | undefined): readonly Endpoint[] {
  if (crash === undefined) return [];
  return [
    endpoint({
      method: 'post',
      path: '/api/demo/crash',
      summary: 'Crash the gateway',
      description: 'Kills the process of the demo with SIGKILL. It is started again at once. The answer may be lost.',
      access: 'admin',
      answer: z.strictObject({}),
      handle: async () => ({}),
      respond() {
        crash();
        return Response.json({});
      },
    }),
  ];
}
