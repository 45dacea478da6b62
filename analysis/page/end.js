openReport();
})();
