import { startChatPage } from './start.ts';

const { url } = await startChatPage();
console.log(`Open ${url} and ask the cashier to pay something.`);
