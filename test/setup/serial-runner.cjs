const { default: TestRunner } = require('jest-runner');

/** Runs one file at a time, whatever `maxWorkers` is. */
module.exports = class SerialRunner extends TestRunner {
  isSerial = true;
};
