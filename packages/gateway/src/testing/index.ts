// The public exports of @lastcall/gateway/testing.
export { type ApiRequest, startTestGateway, type TestGateway, type TestGatewayOptions } from './test-gateway.ts';
export { waitFor } from './wait-for.ts';
