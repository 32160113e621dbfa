import { stopTestServices } from './test-services';

export default stopTestServices;
