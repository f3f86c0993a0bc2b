import { startHttpServer } from './http-server.ts';

const [log = '', state = ''] = process.argv.slice(2);
const { host } = await startHttpServer({ log, state });
process.stdout.write(host);
