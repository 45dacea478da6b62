openLab();
})();
